import type { FieldModel, PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../../src/kernel/json.ts';

/** A cell, independent of its current position. */
export interface CellName {
  readonly objectId: string;
  readonly field: FieldModel;
}

interface EditedCell extends CellName {
  /** The cell's value when editing began. */
  readonly base: JsonValue;
  /** The value that the editor starts with, or that could not be saved. */
  readonly value: JsonValue;
  readonly names: PointerNames;
}

/** A cell with an open editor. */
export interface Editing extends EditedCell {
  readonly kind: 'editing';
}

/** A cell whose new value could not be saved and is kept. */
export interface Failed extends EditedCell {
  readonly kind: 'failed';
  /** The reason, in the user's language. */
  readonly why: string;
  /** Whether this failure is the latest, whose reason is shown. */
  readonly isLast: boolean;
}

export type EditState = Editing | Failed;

/** Where the focus goes from an editor: to an adjacent cell, back to its own (0), or nowhere because it has already moved (`null`). */
export type EditStep = -1 | 0 | 1 | null;

/** Callbacks of an editor, and of the choices after a failed save. */
export interface EditActions {
  commit(value: JsonValue, names: PointerNames, step: EditStep): void;
  /** Called when the editor is left with a text that is not a value of the field. */
  refuse(typed: string, why: string): void;
  cancel(): void;
  editAgain(cell: CellName): void;
  discard(cell: CellName): void;
}

export const isOf = (edit: CellName, objectId: string, field: FieldModel) =>
  edit.objectId === objectId && edit.field.name === field.name;

const inPlace = new Set<FieldModel['type']>(['String', 'Number', 'Boolean', 'Date', 'Pointer', 'HTML/XML']);

/** Returns whether cells of the field have an editor; other fields are edited on the record's page. */
export const hasEditor = (field: FieldModel) =>
  !field.isReadOnly && (inPlace.has(field.type) || (field.type === 'Array' && !!field.targetClass));
