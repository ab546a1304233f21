"""All targets, by name."""

from fuzz import audits, folders, languages, models, records, tables

TARGETS = {
    target.name: target
    for family in (languages, records, tables, audits, folders, models)
    for target in family.TARGETS
}
