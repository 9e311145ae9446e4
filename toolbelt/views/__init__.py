"""What is shown, as values: a subject is put together once and rendered as terminal text, Markdown or HTML.

They are named tuples because commands that must start quickly import them: dataclasses take four times as long to make.
"""
