import { useCallback, useMemo, useRef, useState } from 'react';
import type { Conflict, PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../../src/kernel/json.ts';
import { describe } from '../../api/describe.ts';
import { ApiFailure } from '../../api/failure.ts';
import { useSystem } from '../../api/system.tsx';
import { updateRecord } from '../../api/writes.ts';
import { sameValue } from '../../model/values.ts';
import { announce } from '../../ui/announce.tsx';
import { fieldValue } from '../cells/cell-text.ts';
import type { Row, RowSource } from '../rows/row-source.ts';
import { gridWords } from '../words/index.ts';
import { type CellName, type Editing, type EditState, type EditStep, type Failed, isOf } from './edit-state.ts';

/** A value that was not saved because another one was saved during the edit. */
export interface EditConflict {
  readonly edit: Editing;
  readonly conflict: Conflict;
}

export interface EditingOptions {
  readonly table: string;
  readonly source: RowSource;
  /** Called after an editor that had the focus is left. */
  onLeft(step: -1 | 0 | 1): void;
}

/** Edits cells in place: the typed value is shown immediately and is kept until it is saved or discarded. */
export function useEditing({ table, source, onLeft }: EditingOptions) {
  const { appId, fieldLabelOf } = useSystem();
  const [editing, setEditing] = useState<Editing | null>(null);
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  const [conflict, setConflict] = useState<EditConflict | null>(null);
  const queue = useRef(new Map<string, Promise<unknown>>());

  const fail = useCallback(
    (edit: Editing, why: string) => {
      announce(`${gridWords.edit.failed(fieldLabelOf(table, edit.field.name))} ${why}`);
      setFailed((old) => [
        ...old.filter((one) => !isOf(one, edit.objectId, edit.field)).map((one) => ({ ...one, isLast: false })),
        { ...edit, kind: 'failed', why, isLast: true },
      ]);
    },
    [fieldLabelOf, table],
  );

  const write = useCallback(
    async (edit: Editing) => {
      const { objectId, field, base, value, names } = edit;
      source.patch(objectId, { [field.name]: value }, names);
      try {
        const answer = await updateRecord(appId, table, objectId, {
          changes: { [field.name]: value },
          base: { [field.name]: base },
        });
        source.patch(objectId, answer.record, answer.names);
        announce(gridWords.edit.saved(fieldLabelOf(table, field.name)));
      } catch (error) {
        const found = error instanceof ApiFailure ? error.conflict : undefined;
        source.patch(objectId, found ? found.record : { [field.name]: base }, found?.names);
        if (found && !sameValue(fieldValue(found.record, field.name), value)) setConflict({ edit, conflict: found });
        else if (!found) fail(edit, describe(error).text);
      }
    },
    [appId, table, source, fieldLabelOf, fail],
  );

  /** Serialises the writes of one record: the next one starts from the result of the previous one. */
  const save = useCallback(
    (edit: Editing) => {
      const before = queue.current.get(edit.objectId) ?? Promise.resolve();
      const done = before
        .then(() => write(edit))
        .finally(() => {
          if (queue.current.get(edit.objectId) === done) queue.current.delete(edit.objectId);
        });
      queue.current.set(edit.objectId, done);
    },
    [write],
  );

  const forget = useCallback(
    (cell: CellName) => setFailed((old) => old.filter((one) => !isOf(one, cell.objectId, cell.field))),
    [],
  );

  const begin = useCallback(
    (row: Row, field: CellName['field'], startsEmpty: boolean) => {
      const objectId = String(row.record.objectId);
      const before = failed.find((one) => isOf(one, objectId, field));
      const base = before?.base ?? fieldValue(row.record, field.name);
      const value = startsEmpty ? null : (before?.value ?? base);
      forget({ objectId, field });
      setEditing({ kind: 'editing', objectId, field, base, value, names: before?.names ?? row.names });
    },
    [failed, forget],
  );

  const leave = useCallback(
    (value: JsonValue, names: PointerNames, step: EditStep) => {
      if (editing && !sameValue(value, editing.base)) save({ ...editing, value, names });
      setEditing(null);
      if (step !== null) onLeft(step);
    },
    [editing, save, onLeft],
  );

  const actions = useMemo(
    () => ({
      commit: leave,
      refuse: (typed: string, why: string) => {
        if (editing) fail({ ...editing, value: typed }, why);
        setEditing(null);
      },
      cancel: () => {
        setEditing(null);
        onLeft(0);
      },
      editAgain: (cell: CellName) => {
        const again = failed.find((one) => isOf(one, cell.objectId, cell.field));
        if (!again) return;
        forget(cell);
        setEditing({ ...again, kind: 'editing' });
      },
      discard: (cell: CellName) => {
        forget(cell);
        onLeft(0);
      },
    }),
    [editing, failed, leave, fail, forget, onLeft],
  );

  /** @param isMine whether to keep the user's value; `null`: decided later, and the value stays in its cell */
  const resolve = (isMine: boolean | null) => {
    if (!conflict) return;
    const theirs = fieldValue(conflict.conflict.record, conflict.edit.field.name);
    if (isMine === true) save({ ...conflict.edit, base: theirs });
    if (isMine === null) fail({ ...conflict.edit, base: theirs }, gridWords.edit.conflictTitle);
    setConflict(null);
    onLeft(0);
  };

  const edits: readonly EditState[] = useMemo(() => (editing ? [...failed, editing] : failed), [failed, editing]);
  return { edits, isEditing: editing !== null, conflict, begin, save, resolve, actions };
}
