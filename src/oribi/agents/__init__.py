"""Agents as files: the workspace that holds them, their frontmatter, and what of them enters a prompt."""
