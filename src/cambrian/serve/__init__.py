"""``cambrian open``: the pages of results, for browsers of this machine."""
