from cambrian.data import load as load

__version__: str
