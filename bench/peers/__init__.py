"""
Other libraries that a bot could remember with, measured on the same texts, vectors and questions as Lamina.
"""
