import { useSyncExternalStore } from 'react';
import { type Draft, isDirty } from './draft.ts';

/** Identifies a draft by system, user and record; a new record has an id of the form `new:…`. */
export interface DraftKey {
  readonly appId: string;
  readonly userId: string;
  readonly table: string;
  readonly id: string;
}

const PREFIX = 'console.draft.';

/** Drafts of this tab, by name in the browser's storage. If that is full, drafts last as long as the page. */
const drafts = new Map<string, Draft | null>();
const listeners = new Set<() => void>();
let version = 0;

addEventListener('storage', (event) => {
  if (event.key !== null && !event.key.startsWith(PREFIX)) return;
  if (event.key === null) drafts.clear();
  else drafts.set(event.key, parse(event.newValue));
  tell();
});

/** Returns the draft of a record, or `null`. */
export function readDraft(key: DraftKey): Draft | null {
  return read(nameOf(key));
}

/** Stores a draft; removes one without fields. */
export function writeDraft(key: DraftKey, draft: Draft): void {
  const name = nameOf(key);
  drafts.set(name, isDirty(draft) ? draft : null);
  try {
    if (isDirty(draft)) localStorage.setItem(name, JSON.stringify(draft));
    else localStorage.removeItem(name);
  } catch {}
  tell();
}

export function removeDraft(key: DraftKey): void {
  const name = nameOf(key);
  drafts.set(name, null);
  localStorage.removeItem(name);
  tell();
}

/** Returns all drafts of a user, newest first. */
export function draftsOf(appId: string, userId: string): readonly { key: DraftKey; draft: Draft }[] {
  const start = `${PREFIX}${JSON.stringify([appId, userId]).slice(0, -1)},`;
  const names = new Set([...Object.keys(localStorage), ...drafts.keys()].filter((name) => name.startsWith(start)));
  const found = [...names].flatMap((name) => {
    const draft = read(name);
    const [, , table, id] = JSON.parse(name.slice(PREFIX.length)) as string[];
    return draft && table !== undefined && id !== undefined ? [{ key: { appId, userId, table, id }, draft }] : [];
  });
  return found.sort((a, b) => b.draft.changedAt - a.draft.changedAt);
}

/** Returns the draft of a record and follows its changes in this tab and others. */
export function useDraft(key: DraftKey): Draft | null {
  return useSyncExternalStore(onDrafts, () => readDraft(key));
}

/** Renders again whenever any draft changes. */
export function useDraftVersion(): number {
  return useSyncExternalStore(onDrafts, () => version);
}

function onDrafts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  version++;
  for (const listener of listeners) listener();
}

function nameOf(key: DraftKey): string {
  return PREFIX + JSON.stringify([key.appId, key.userId, key.table, key.id]);
}

function read(name: string): Draft | null {
  if (!drafts.has(name)) drafts.set(name, parse(localStorage.getItem(name)));
  return drafts.get(name) ?? null;
}

function parse(text: string | null): Draft | null {
  try {
    const draft = text ? (JSON.parse(text) as Draft) : null;
    return draft && typeof draft.fields === 'object' && typeof draft.requestId === 'string' ? draft : null;
  } catch {
    return null;
  }
}
