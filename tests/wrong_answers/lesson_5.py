"""Lesson 5: the Transformer."""
