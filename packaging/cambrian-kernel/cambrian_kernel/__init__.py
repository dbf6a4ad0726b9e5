"""A built virtual-time kernel for Cambrian; SOURCE.md in the folder below says what it was built from."""
