"""What no lesson imports: setting up, executing, showing and publishing the course, and making workbooks of it."""
