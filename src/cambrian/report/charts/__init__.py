"""Charts of effects by cell, for every page: the keys of one, lines, heat maps, columns in words."""
