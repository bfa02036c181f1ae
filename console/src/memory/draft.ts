import type { Conflict } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { sameValue } from '../model/values.ts';

/** What a user typed in a field and has not saved. */
export interface FieldDraft {
  /** What the field held when he began to type; `null` for nothing. */
  readonly base: JsonValue;
  readonly value: JsonValue;
  /** What stands in the control where it does not read as a value, as `12x` in a number. */
  readonly text?: string;
}

/** What a user typed in a record and has not saved. */
export interface Draft {
  readonly fields: Readonly<Record<string, FieldDraft>>;
  /** Of the write that makes the record: the same however often it is tried. */
  readonly requestId: string;
  readonly changedAt: number;
  /** Whether he asked to save, and it could not be carried out yet. */
  readonly isWaiting: boolean;
  /** What the record was called, for lists of drafts. */
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
 * The draft after a change of a control.
 * @param seen what the field held on the screen.
 * @param text what stands in the control where it does not read as a value.
 */
export function edited(draft: Draft, name: string, seen: JsonValue, value: JsonValue, at: number, text?: string): Draft {
  const base = Object.hasOwn(draft.fields, name) ? (draft.fields[name] as FieldDraft).base : seen;
  const { [name]: _, ...others } = draft.fields;
  const isBack = text === undefined && sameValue(value, base);
  const fields = isBack ? others : { ...draft.fields, [name]: { base, value, ...(text === undefined ? {} : { text }) } };
  return { ...draft, fields, changedAt: at, isWaiting: draft.isWaiting && Object.keys(fields).length > 0 };
}

/** What is sent: only fields that read as values. */
export function writeOf(draft: Draft): { changes: JsonObject; base: JsonObject } {
  const sent = Object.entries(draft.fields).filter(([, field]) => field.text === undefined);
  return {
    changes: Object.fromEntries(sent.map(([name, field]) => [name, field.value])),
    base: Object.fromEntries(sent.map(([name, field]) => [name, field.base])),
  };
}

/** The draft after `sent` was saved: what was typed meanwhile stays, upon what the record holds now. */
export function settled(draft: Draft, sent: JsonObject, record: JsonObject): Draft {
  const fields = Object.entries(draft.fields).flatMap(([name, field]): [string, FieldDraft][] => {
    if (!Object.hasOwn(sent, name)) return [[name, field]];
    if (field.text === undefined && sameValue(field.value, sent[name])) return [];
    return [[name, { ...field, base: record[name] ?? null }]];
  });
  return { ...draft, fields: Object.fromEntries(fields), isWaiting: false };
}

/** A field that two changed: what it held, what this user typed, what the other saved. */
export interface Clash {
  readonly field: string;
  readonly before: JsonValue;
  readonly mine: JsonValue;
  readonly theirs: JsonValue;
}

/** The fields of a refused write that ask for a choice; those where both typed the same do not. */
export function clashesOf(draft: Draft, conflict: Pick<Conflict, 'fields' | 'record'>): readonly Clash[] {
  return conflict.fields.flatMap((name) => {
    const field = Object.hasOwn(draft.fields, name) ? draft.fields[name] : undefined;
    const theirs = conflict.record[name] ?? null;
    if (!field || sameValue(field.value, theirs)) return [];
    return [{ field: name, before: field.base, mine: field.value, theirs }];
  });
}

/**
 * The draft after the choices.
 * @param choices by field: whether this user's value is to stand.
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

/** What a user wrote last, and when that was; `null` while it is on its way. */
export interface OwnWrite {
  readonly changes: JsonObject;
  readonly updatedAt: JsonValue | undefined;
}

/** Fields whose value others changed between two states of a record. */
export function changedFields(before: JsonObject, after: JsonObject, own: OwnWrite | null): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of ['updatedAt', 'updatedBy', 'ACL']) names.delete(name);
  const isAnswer = own?.updatedAt !== undefined && own.updatedAt !== null && sameValue(own.updatedAt, after.updatedAt);
  // The service may have stored a value in another form than it was sent in.
  const isOwn = (name: string) =>
    own !== null && Object.hasOwn(own.changes, name) && (isAnswer || sameValue(own.changes[name], after[name]));
  return [...names].filter((name) => !sameValue(before[name], after[name]) && !isOwn(name));
}
