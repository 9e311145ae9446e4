"""Cases from what others keep: message logs, transcripts, the files of other harnesses."""
