"""
`python -m app` is `lamina`.
"""

from app.cli.main import main

main()
