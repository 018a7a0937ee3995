"""Lesson 4: multi-head attention."""
