"""A folder with `toolbelt.yaml`, opened."""
