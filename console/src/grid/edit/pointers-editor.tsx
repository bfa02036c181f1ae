import { useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog } from 'react-aria-components/Modal';
import type { PointerNames } from '../../../../src/console/protocol/protocol.ts';
import { pointerOf, wirePointer } from '../../model/values.ts';
import { Popover } from '../parts/popover.tsx';
import { RecordPicker } from '../parts/record-picker.tsx';
import { mergedNames } from '../rows/row-source.ts';
import { gridWords } from '../words/index.ts';
import type { CellEditorProps } from './cell-editor.tsx';

/** Chooses a Pointer, or an array of them, by name. */
export function PointersEditor({ edit, label, actions }: CellEditorProps) {
  const { field } = edit;
  const target = field.targetClass ?? '';
  const isMany = field.type === 'Array';
  const anchor = useRef<HTMLSpanElement>(null);
  const [ids, setIds] = useState(() => idsOf(edit.value));
  const [names, setNames] = useState<PointerNames>(edit.names);
  const isLeft = useRef(false);

  const leave = (chosen: readonly string[], known: PointerNames) => {
    if (isLeft.current) return;
    isLeft.current = true;
    const pointers = chosen.map((id) => wirePointer(target, id));
    actions.commit(isMany ? (pointers.length > 0 ? pointers : null) : (pointers[0] ?? null), known, 0);
  };
  const choose = (chosen: readonly string[], more: Readonly<Record<string, string>>) => {
    const known = mergedNames(names, { [target]: more });
    setIds(chosen);
    setNames(known);
    if (!isMany) leave(chosen, known);
  };
  return (
    <>
      <span ref={anchor} className="g-anchor" />
      <Popover
        triggerRef={anchor}
        isOpen
        onOpenChange={(isOpen) => {
          if (!isOpen) leave(ids, names);
        }}
        placement="bottom start"
        className="g-picker-popover"
      >
        <Dialog aria-label={gridWords.edit.label(label)} className="g-dialog">
          <RecordPicker
            table={target}
            chosen={ids}
            names={names[target] ?? {}}
            isMany={isMany}
            onChange={choose}
            onCancel={() => {
              isLeft.current = true;
              actions.cancel();
            }}
          />
          <div className="g-actions">
            <Button className="button button-small" onPress={() => leave([], names)}>
              {gridWords.edit.clear}
            </Button>
            {isMany ? (
              <Button className="button button-small button-main" onPress={() => leave(ids, names)}>
                {gridWords.apply}
              </Button>
            ) : null}
          </div>
        </Dialog>
      </Popover>
    </>
  );
}

function idsOf(value: CellEditorProps['edit']['value']): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap((one) => pointerOf(one)?.objectId ?? []);
}
