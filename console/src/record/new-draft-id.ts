import { randomId } from '../model/id.ts';

/** Returns the draft id of this tab's new record of a table: it survives a reload, and no other tab uses it. @param requestedId a draft to continue. */
export function newDraftId(table: string, requestedId: string | null): string {
  const id = requestedId || sessionStorage.getItem(nameOf(table)) || randomId();
  sessionStorage.setItem(nameOf(table), id);
  return id;
}

/** Makes the next new record of the table start another draft. */
export function forgetNewDraft(table: string): void {
  sessionStorage.removeItem(nameOf(table));
}

function nameOf(table: string): string {
  return `console.new.${table}`;
}
