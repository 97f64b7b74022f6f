"""Audio Language Model curation: windows of about two minutes of speech, built and thinned out. See docs/alm.md."""
