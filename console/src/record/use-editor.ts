import { useCallback, useEffect, useRef, useState } from 'react';
import type { Conflict, RecordAnswer } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { describe } from '../api/describe.ts';
import { ApiFailure, isSessionOver, NoConnection } from '../api/failure.ts';
import { useStatus } from '../api/status.ts';
import { clashesOf, type Draft, edited, emptyDraft, isDirty, isInvalid, resolved, settled, writeOf } from '../memory/draft.ts';
import { type DraftKey, readDraft, removeDraft, useDraft, writeDraft } from '../memory/drafts.ts';
import { randomId } from '../model/id.ts';
import { announce } from '../ui/announce.tsx';
import { words } from '../words/index.ts';

/** Maximum automatic retries of a refused write in which both users typed the same. */
const MAX_TRIES = 3;
const JUST_SAVED_MS = 3000;

/** The input of a record and its saving. */
export interface Editor {
  readonly draft: Draft;
  readonly isSaving: boolean;
  /** The error of the last save. */
  readonly failure: unknown;
  /** Whether the last save found controls with invalid text. */
  readonly hasInvalid: boolean;
  readonly conflict: Conflict | null;
  edit(name: string, seen: JsonValue, value: JsonValue, text?: string): void;
  save(): Promise<void>;
  discard(): void;
  resolve(choices: ReadonlyMap<string, 'mine' | 'theirs'>): void;
  leaveConflict(): void;
}

interface Options {
  readonly key: DraftKey;
  readonly title: string;
  send(draft: Draft): Promise<RecordAnswer>;
  /** @param rest input typed while the record was saved. */
  onSaved(answer: RecordAnswer, sent: JsonObject, rest: Draft): void;
  /** Called with the record's current state after a refused write. */
  onConflict(answer: RecordAnswer): void;
}

/** Keeps the draft of a record at each key; saves with one request at a time, and retries after a lost connection. */
export function useEditor(options: Options): Editor {
  const { key, title } = options;
  const { isOffline, isSignedOut } = useStatus();
  const [fresh] = useState(() => emptyDraft(randomId(), title));
  const draft = useDraft(key) ?? fresh;
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [hasInvalid, setHasInvalid] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const isRunning = useRef(false);
  const savedAt = useRef(0);
  const latest = useRef(options);
  latest.current = options;
  const current = useCallback(() => readDraft(latest.current.key) ?? fresh, [fresh]);

  const edit = useCallback(
    (name: string, seen: JsonValue, value: JsonValue, text?: string) => {
      setHasInvalid(false);
      writeDraft(latest.current.key, { ...edited(current(), name, seen, value, Date.now(), text), title: latest.current.title });
    },
    [current],
  );

  /** @returns whether to send the draft again. */
  const attempt = useCallback(async (): Promise<boolean> => {
    const sent = current();
    const { changes } = writeOf(sent);
    try {
      const answer = await latest.current.send(sent);
      const rest = settled(current(), changes, answer.record);
      writeDraft(latest.current.key, rest);
      savedAt.current = Date.now();
      announce(words.record.saved);
      latest.current.onSaved(answer, changes, rest);
    } catch (error) {
      const isWaiting = error instanceof NoConnection || isSessionOver(error);
      writeDraft(latest.current.key, { ...current(), isWaiting });
      const refused = error instanceof ApiFailure ? error.conflict : undefined;
      if (refused) {
        latest.current.onConflict(refused);
        if (clashesOf(current(), refused).length > 0) {
          setConflict(refused);
          announce(words.conflict.title);
          return false;
        }
        writeDraft(latest.current.key, resolved(current(), refused, new Map()));
        if (isDirty(current())) return true;
        announce(words.record.saved);
      } else if (isWaiting) announce(words.record.waiting);
      else {
        setFailure(error);
        announce(`${words.record.failed} ${describe(error).text}`);
      }
    }
    return false;
  }, [current]);

  const save = useCallback(async () => {
    if (isRunning.current) return;
    setFailure(null);
    if (!isDirty(current())) {
      // The second click of a double click.
      const isJustSaved = Date.now() - savedAt.current < JUST_SAVED_MS;
      return announce(isJustSaved ? words.record.saved : words.record.unchanged);
    }
    if (isInvalid(current())) {
      setHasInvalid(true);
      announce(words.record.invalid);
      document.querySelector<HTMLElement>('main [aria-invalid=true]')?.focus();
      return;
    }
    isRunning.current = true;
    setSaving(true);
    try {
      for (let tries = 1; (await attempt()) && tries < MAX_TRIES; tries++);
    } finally {
      isRunning.current = false;
      setSaving(false);
    }
  }, [attempt, current]);

  useEffect(() => {
    if (draft.isWaiting && !isOffline && !isSignedOut && !conflict) save();
  }, [draft.isWaiting, isOffline, isSignedOut, conflict, save]);

  return {
    draft,
    isSaving,
    failure,
    hasInvalid,
    conflict,
    edit,
    save,
    discard: () => {
      removeDraft(key);
      setFailure(null);
      setHasInvalid(false);
    },
    resolve: (choices) => {
      if (!conflict) return;
      writeDraft(key, resolved(current(), conflict, choices));
      setConflict(null);
      if (isDirty(current())) save();
      else announce(words.record.saved);
    },
    leaveConflict: () => setConflict(null),
  };
}
