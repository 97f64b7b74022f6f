"""Small drawings made on the server, where interaction would add nothing. Colours come from the page's style sheet."""
