import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useSystem } from '../../api/system.tsx';
import { dateOf } from '../../model/values.ts';
import { CellContent } from '../cells/cell-content.tsx';
import { isBlank, valueOf } from '../cells/cell-text.ts';
import { mergedNames } from '../rows/row-source.ts';
import { gridWords } from '../words/index.ts';
import type { EditConflict } from './use-editing.ts';

export interface ConflictDialogProps {
  readonly conflict: EditConflict;
  /** @param isMine `null`: not decided */
  onChoice(isMine: boolean | null): void;
}

/** Asks whose value is to stand, where another was saved while this one was typed. */
export function ConflictDialog({ conflict: { edit, conflict }, onChoice }: ConflictDialogProps) {
  const { format } = useSystem();
  const words = gridWords.edit;
  const at = dateOf(conflict.at);
  const names = mergedNames(conflict.names, edit.names);
  const theirs = valueOf(conflict.record, edit.field.name);
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onChoice(null)} className="g-overlay">
      <Modal className="g-modal">
        <Dialog role="alertdialog" className="g-dialog">
          <Heading slot="title" className="g-dialog-title">
            {words.conflictTitle}
          </Heading>
          <p>{words.conflictText(conflict.by ?? words.someone, at ? format.ago(at) : '')}</p>
          <dl className="g-sides">
            <div>
              <dt>{words.mine}</dt>
              <dd>{isBlank(edit.value) ? words.empty : <CellContent value={edit.value} field={edit.field} names={names} />}</dd>
            </div>
            <div>
              <dt>{words.theirs}</dt>
              <dd>{isBlank(theirs) ? words.empty : <CellContent value={theirs} field={edit.field} names={names} />}</dd>
            </div>
          </dl>
          <div className="g-actions">
            <Button className="g-button" onPress={() => onChoice(false)}>
              {words.keepTheirs}
            </Button>
            <Button className="g-button g-button-main" onPress={() => onChoice(true)}>
              {words.keepMine}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
