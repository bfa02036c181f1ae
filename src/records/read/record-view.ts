import { hash } from 'node:crypto';
import { holdsCopies, type Principal, viewerOf } from '../../access/index.ts';
import type { Selection } from '../../query/model/selection.ts';
import { isSystemTable } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';

/** A view, as long as the form of records stays (`Store.recordForm`) and the caller looks the same. */
interface KnownView {
  readonly form: string;
  readonly viewer: string;
  readonly view: string;
}

const views = new WeakMap<Selection, KnownView>();

/**
 * Returns a short text that stands for how a caller sees the records of a selection: fields, permissions, addresses of files. Two reads of a record
 * with the same view and the same `updatedAt` return the same text. `null` if that is not certain: the service itself writes to its own tables
 * without setting `updatedAt`, and an include shows other records.
 */
export function viewOf(store: Store, principal: Principal, selection: Selection): string | null {
  const { className } = selection.table;
  if (selection.includes.length > 0 || isSystemTable(className) || holdsCopies(className)) return null;
  const form = store.recordForm();
  if (form === null) return null;
  const viewer = viewerOf(principal);
  const known = views.get(selection);
  if (known?.form === form && known.viewer === viewer) return known.view;
  const paths = selection.paths ? [...selection.paths] : [];
  const shown = [form, viewer, selection.fields.map(({ name }) => name), paths];
  const view = shortHash(JSON.stringify(shown));
  views.set(selection, { form, viewer, view });
  return view;
}

/** Returns 66 bits of a text's hash, in 11 characters. */
export const shortHash = (text: string): string => hash('sha1', text, 'base64url').slice(0, 11);
