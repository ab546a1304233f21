"""All targets, by name."""

from fuzz import folders, languages, models, records, tables

TARGETS = {
    target.name: target
    for family in (languages, records, tables, folders, models)
    for target in family.TARGETS
}
