"""What is doubtful about a dataset beyond what reading it refuses."""
