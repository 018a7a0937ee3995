"""Lesson 6: the Transformer taken apart."""
