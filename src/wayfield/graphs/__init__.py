"""State graphs, mazes and labels, and shortest paths in them."""
