"""Papers as PDFs: read safely, their references, and the records made of them.

records     Paper, Figure, Panel, Miss: what stages pass on
layout      what one reading of a PDF tells: lines of words, patches of ink, per page
pdf         the one road into a PDF, by pdfium
lines       characters to lines of words
ink         a page without its words to patches of ink
worker      that road in a process of its own, with limits of time, memory and pages
references  reference exports: RIS, BibTeX, CSV
"""
