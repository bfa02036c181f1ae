import { randomId } from '../model/id.ts';

/** The id of this tab's new record of a table: it outlives a reload, and no other tab has it. @param asked one that the user goes on with. */
export function newDraftId(table: string, asked: string | null): string {
  const id = asked || sessionStorage.getItem(nameOf(table)) || randomId();
  sessionStorage.setItem(nameOf(table), id);
  return id;
}

/** The next new record of the table is another one. */
export function forgetNewDraft(table: string): void {
  sessionStorage.removeItem(nameOf(table));
}

function nameOf(table: string): string {
  return `console.new.${table}`;
}
