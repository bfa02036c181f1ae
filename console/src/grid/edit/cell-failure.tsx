import { useRef } from 'react';
import { Button } from 'react-aria-components/Button';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import type { EditActions, Failed } from './edit-state.ts';

export interface CellFailureProps {
  readonly failed: Failed;
  readonly label: string;
  readonly actions: EditActions;
}

/** Shown beside a cell that could not be saved: the reason, and the choices for the typed value. */
export function CellFailure({ failed, label, actions }: CellFailureProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  return (
    <>
      <span ref={anchor} className="g-anchor" />
      <Popover
        triggerRef={anchor}
        isOpen
        isNonModal
        placement="bottom start"
        className="g-failure"
        aria-label={gridWords.edit.failed(label)}
      >
        <p role="alert">
          <strong>{gridWords.edit.failed(label)}</strong> {failed.why}
        </p>
        <div className="g-actions">
          <Button className="button button-small" onPress={() => actions.discard(failed)}>
            {gridWords.discard}
          </Button>
          <Button className="button button-small button-main" onPress={() => actions.editAgain(failed)}>
            {gridWords.edit.again}
          </Button>
        </div>
      </Popover>
    </>
  );
}
