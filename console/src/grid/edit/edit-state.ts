import type { FieldModel, PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../../src/kernel/json.ts';

/** A cell, wherever it stands at the moment. */
export interface CellName {
  readonly objectId: string;
  readonly field: FieldModel;
}

interface EditedCell extends CellName {
  /** What the cell held when the editing began. */
  readonly base: JsonValue;
  /** What the editor begins with, or what could not be saved. */
  readonly value: JsonValue;
  readonly names: PointerNames;
}

/** A cell with an editor in it. */
export interface Editing extends EditedCell {
  readonly kind: 'editing';
}

/** A cell whose new value could not be saved: it stays in it. */
export interface Failed extends EditedCell {
  readonly kind: 'failed';
  /** Why, in words. */
  readonly why: string;
  /** Whether it failed last: that one says why. */
  readonly isLast: boolean;
}

export type EditState = Editing | Failed;

/** Where the focus goes from an editor: to the cell beside it, back to its own (0), or it has gone elsewhere already (`null`). */
export type EditStep = -1 | 0 | 1 | null;

/** What an editor leaves with, and what is done with a value that could not be saved. */
export interface EditActions {
  commit(value: JsonValue, names: PointerNames, step: EditStep): void;
  /** What was typed is no value of the field, and the editor was left. */
  refuse(typed: string, why: string): void;
  cancel(): void;
  editAgain(cell: CellName): void;
  discard(cell: CellName): void;
}

export const isOf = (edit: CellName, objectId: string, field: FieldModel) =>
  edit.objectId === objectId && edit.field.name === field.name;

const inPlace = new Set<FieldModel['type']>(['String', 'Number', 'Boolean', 'Date', 'Pointer', 'HTML/XML']);

/** Whether cells of the field have an editor; what has none is edited on the record's page. */
export const hasEditor = (field: FieldModel) =>
  !field.isReadOnly && (inPlace.has(field.type) || (field.type === 'Array' && !!field.targetClass));
