"""Tests that drive a browser; a package, so that a file may have the name of one beside it."""
