"""The harness: the same cases over several toolsets and models, scored, counted and priced.

Installed as `toolbelt.evals`; see CONTRIBUTING.md for why the folder is at the top of the repository.
"""
