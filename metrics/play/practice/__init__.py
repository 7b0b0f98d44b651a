"""The practice squad: small deterministic programs that sit on the bench while nobody else does. Never
passed off as models.
"""
