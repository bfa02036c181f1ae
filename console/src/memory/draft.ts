import type { Conflict } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { sameValue } from '../model/values.ts';

/** Unsaved input in a field. */
export interface FieldDraft {
  /** The field's value when typing began; `null` if it was empty. */
  readonly base: JsonValue;
  readonly value: JsonValue;
  /** The control's text if it does not parse as a value, such as `12x` in a number. */
  readonly text?: string;
}

/** Unsaved input in a record. */
export interface Draft {
  readonly fields: Readonly<Record<string, FieldDraft>>;
  /** Identifies the write that creates the record; the same for every retry. */
  readonly requestId: string;
  readonly changedAt: number;
  /** Whether the user asked to save and the write could not be sent yet. */
  readonly isWaiting: boolean;
  /** The record's title, for lists of drafts. */
  readonly title: string;
}

export function emptyDraft(requestId: string, title = ''): Draft {
  return { fields: {}, requestId, changedAt: 0, isWaiting: false, title };
}

export function isDirty(draft: Draft): boolean {
  return Object.keys(draft.fields).length > 0;
}

export function isInvalid(draft: Draft): boolean {
  return Object.values(draft.fields).some((field) => field.text !== undefined);
}

/**
 * Returns the draft after a change of a control.
 * @param seen the field's value on the screen.
 * @param text the control's text if it does not parse as a value.
 */
export function edited(draft: Draft, name: string, seen: JsonValue, value: JsonValue, at: number, text?: string): Draft {
  const base = Object.hasOwn(draft.fields, name) ? (draft.fields[name] as FieldDraft).base : seen;
  const { [name]: _, ...others } = draft.fields;
  const isBack = text === undefined && sameValue(value, base);
  const fields = isBack ? others : { ...draft.fields, [name]: { base, value, ...(text === undefined ? {} : { text }) } };
  return { ...draft, fields, changedAt: at, isWaiting: draft.isWaiting && Object.keys(fields).length > 0 };
}

/** Returns the write of a draft: only fields that parse as values. */
export function writeOf(draft: Draft): { changes: JsonObject; base: JsonObject } {
  const sent = Object.entries(draft.fields).filter(([, field]) => field.text === undefined);
  return {
    changes: Object.fromEntries(sent.map(([name, field]) => [name, field.value])),
    base: Object.fromEntries(sent.map(([name, field]) => [name, field.base])),
  };
}

/** Returns the draft after `sent` was saved: input typed meanwhile is kept, based on the record's new values. */
export function settled(draft: Draft, sent: JsonObject, record: JsonObject): Draft {
  const fields = Object.entries(draft.fields).flatMap(([name, field]): [string, FieldDraft][] => {
    if (!Object.hasOwn(sent, name)) return [[name, field]];
    if (field.text === undefined && sameValue(field.value, sent[name])) return [];
    return [[name, { ...field, base: record[name] ?? null }]];
  });
  return { ...draft, fields: Object.fromEntries(fields), isWaiting: false };
}

/** A field that two users changed: the value before, this user's, and the other's. */
export interface Clash {
  readonly field: string;
  readonly before: JsonValue;
  readonly mine: JsonValue;
  readonly theirs: JsonValue;
}

/** Returns the fields of a refused write that need a choice; equal values do not. */
export function clashesOf(draft: Draft, conflict: Pick<Conflict, 'fields' | 'record'>): readonly Clash[] {
  return conflict.fields.flatMap((name) => {
    const field = Object.hasOwn(draft.fields, name) ? draft.fields[name] : undefined;
    const theirs = conflict.record[name] ?? null;
    if (!field || sameValue(field.value, theirs)) return [];
    return [{ field: name, before: field.base, mine: field.value, theirs }];
  });
}

/**
 * Returns the draft after the choices.
 * @param choices by field: whether this user's value is kept.
 */
export function resolved(
  draft: Draft,
  conflict: Pick<Conflict, 'fields' | 'record'>,
  choices: ReadonlyMap<string, 'mine' | 'theirs'>,
): Draft {
  const fields = Object.entries(draft.fields).flatMap(([name, field]): [string, FieldDraft][] => {
    if (!conflict.fields.includes(name)) return [[name, field]];
    const theirs = conflict.record[name] ?? null;
    if (choices.get(name) === 'theirs' || sameValue(field.value, theirs)) return [];
    return [[name, { ...field, base: theirs }]];
  });
  return { ...draft, fields: Object.fromEntries(fields) };
}

/** The user's last write and its time; `null` while it is running. */
export interface OwnWrite {
  readonly changes: JsonObject;
  readonly updatedAt: JsonValue | undefined;
}

/** Returns the fields whose value others changed between two states of a record. */
export function changedFields(before: JsonObject, after: JsonObject, own: OwnWrite | null): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of ['updatedAt', 'updatedBy', 'ACL']) names.delete(name);
  const isAnswer = own?.updatedAt !== undefined && own.updatedAt !== null && sameValue(own.updatedAt, after.updatedAt);
  // The service may store a value in another form than it was sent in.
  const isOwn = (name: string) =>
    own !== null && Object.hasOwn(own.changes, name) && (isAnswer || sameValue(own.changes[name], after[name]));
  return [...names].filter((name) => !sameValue(before[name], after[name]) && !isOwn(name));
}
