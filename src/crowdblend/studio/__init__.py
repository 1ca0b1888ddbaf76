"""The studio: web pages on your own machine, from data to published folder. No decision about privacy lives here.

server    binds 127.0.0.1, prints the address with its one-time token
security  who may ask, from where, and what a page may load
places    files under the root, and nothing else
drafts    policies in the making, kept in a folder, so that a reload or a second tab finds them
jobs      releases, rehearsals and attacks in processes of their own;  work: what runs in them
model/    a policy in the making: choices, what is missing, expectations
pages/    one file per step or page;  templates/ and static/: how they look
"""
