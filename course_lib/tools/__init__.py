"""What users and makers of the course call by verb, and no lesson imports."""
