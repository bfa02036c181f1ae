/** Bounds of a snapshot, which is compared on the event loop: twenty times what the largest known systems have. */
export const MAX_TABLES = 5_000;
/** Fields of all tables together. */
export const MAX_FIELDS = 100_000;
/** Indexes of a table. */
export const MAX_INDEXES = 500;
/** Roles, triggers, reports or flags. Triggers are bounded further, by their definition. */
export const MAX_ROWS = 10_000;
/** Labels of a table. */
export const MAX_LABELS = 10_000;
