"""Charts of one network, one kind in each file."""
