import { useSystem } from '../../api/system.tsx';
import { dateOf } from '../../model/values.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CellContent } from '../cells/cell-content.tsx';
import { fieldValue, isBlank, lineOf } from '../cells/cell-text.ts';
import { mergedNames } from '../rows/row-source.ts';
import { gridWords } from '../words/index.ts';
import type { EditConflict } from './use-editing.ts';

export interface ConflictDialogProps {
  readonly conflict: EditConflict;
  /** @param isMine `null`: not decided */
  onChoice(isMine: boolean | null): void;
}

/** Asks which value to keep if another user saved one during the edit. */
export function ConflictDialog({ conflict: { edit, conflict }, onChoice }: ConflictDialogProps) {
  const { format } = useSystem();
  const words = gridWords.edit;
  const at = dateOf(conflict.at);
  const names = mergedNames(conflict.names, edit.names);
  const theirs = fieldValue(conflict.record, edit.field.name);
  const sides = [
    { name: words.mine, value: edit.value },
    { name: words.theirs, value: theirs },
  ];
  return (
    <Dialog
      title={words.conflictTitle}
      onClose={() => onChoice(null)}
      footer={
        <>
          <button type="button" className="button" onClick={() => onChoice(false)}>
            {words.keepTheirs}
          </button>
          <button type="button" className="button button-main" data-first onClick={() => onChoice(true)}>
            {words.keepMine}
          </button>
        </>
      }
    >
      <p>{words.conflictText(lineOf(conflict.by ?? words.someone), at ? format.ago(at) : '')}</p>
      <dl className="g-sides">
        {sides.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isBlank(value) ? words.empty : <CellContent value={value} field={edit.field} names={names} />}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
