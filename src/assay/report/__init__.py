"""What a person looks at: terminal tables, the self-contained HTML report, the dashboard."""
