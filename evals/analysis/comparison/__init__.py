"""Two arms over the same cases: what differs, by how much, and how sure one may be (rule E7)."""
