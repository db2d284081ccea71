"""The portal's routes, one module a part of the site."""
