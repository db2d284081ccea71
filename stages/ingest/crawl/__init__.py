"""A polite crawl: robots.txt and its failure rules, delay, canonical addresses, caps, a cache that resumes."""
