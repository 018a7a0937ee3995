"""Tools that no lesson imports: they set up, execute, show and publish the course, and make workbooks."""
