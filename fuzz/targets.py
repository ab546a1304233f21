"""All targets, by name."""

from fuzz import audits, files, folders, languages, models, records, states, tables

TARGETS = {
    target.name: target
    for family in (languages, records, tables, files, audits, states, folders, models)
    for target in family.TARGETS
}
