import { type RefObject, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Dialog, Heading } from 'react-aria-components/Modal';
import { Separator } from 'react-aria-components/Separator';
import { TextField } from 'react-aria-components/TextField';
import { operatorsOf } from '../filter/condition.ts';
import { Popover } from '../parts/popover.tsx';
import type { Column } from '../table/layout.ts';
import { gridWords, isRightToLeft } from '../words/index.ts';
import type { Sort } from './order.ts';

/** Commands of the menu of a column. */
export interface ColumnCommands {
  sort(field: string, isDescending: boolean | null, isAdded: boolean): void;
  filter(field: string): void;
  move(field: string, step: 1 | -1): void;
  resize(field: string, width: number): void;
  pin(field: string, isPinned: boolean): void;
  hide(field: string): void;
}

export interface ColumnMenuProps {
  readonly column: Column;
  readonly at: number;
  readonly opener: RefObject<HTMLElement | null>;
  readonly sorts: readonly Sort[];
  canMove(at: number, step: 1 | -1): boolean;
  readonly commands: ColumnCommands;
  onClose(): void;
}

/** The menu with all operations on a column, which also serves users who cannot drag. */
export function ColumnMenu({ column, at, opener, sorts, canMove, commands, onClose }: ColumnMenuProps) {
  const [asksWidth, setAsksWidth] = useState(false);
  const words = gridWords.columns;
  const { name } = column.field;
  const isSorted = sorts.some(({ field }) => field === name);
  const isSortable = column.field.type !== 'ACL' && column.field.type !== 'Relation';
  const isElse = sorts.length > 0 && !isSorted;
  const left = isRightToLeft ? 1 : -1;
  if (asksWidth) return <WidthDialog column={column} opener={opener} commands={commands} onClose={onClose} />;
  return (
    <Popover
      triggerRef={opener}
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      placement="bottom start"
      aria-label={words.menu(column.label)}
    >
      <Menu aria-label={words.menu(column.label)} className="g-menu" autoFocus="first" onClose={onClose}>
        {isSortable ? (
          <MenuItem className="g-item" onAction={() => commands.sort(name, false, false)}>
            {words.ascending}
          </MenuItem>
        ) : null}
        {isSortable ? (
          <MenuItem className="g-item" onAction={() => commands.sort(name, true, false)}>
            {words.descending}
          </MenuItem>
        ) : null}
        {isElse ? (
          <MenuItem className="g-item" onAction={() => commands.sort(name, false, true)}>
            {words.alsoAscending}
          </MenuItem>
        ) : null}
        {isElse ? (
          <MenuItem className="g-item" onAction={() => commands.sort(name, true, true)}>
            {words.alsoDescending}
          </MenuItem>
        ) : null}
        {isSorted ? (
          <MenuItem className="g-item" onAction={() => commands.sort(name, null, true)}>
            {words.unsorted}
          </MenuItem>
        ) : null}
        {operatorsOf(column.field).length > 0 ? (
          <MenuItem className="g-item" onAction={() => commands.filter(name)}>
            {words.filter}
          </MenuItem>
        ) : null}
        <Separator className="g-separator" />
        <MenuItem className="g-item" isDisabled={!canMove(at, left)} onAction={() => commands.move(name, left)}>
          {words.moveLeft}
        </MenuItem>
        <MenuItem
          className="g-item"
          isDisabled={!canMove(at, -left as 1 | -1)}
          onAction={() => commands.move(name, -left as 1 | -1)}
        >
          {words.moveRight}
        </MenuItem>
        <MenuItem className="g-item" shouldCloseOnSelect={false} onAction={() => setAsksWidth(true)}>
          {words.width}
        </MenuItem>
        {column.isTitle ? null : (
          <MenuItem className="g-item" onAction={() => commands.pin(name, !column.state.isPinned)}>
            {column.state.isPinned ? words.unpin : words.pin}
          </MenuItem>
        )}
        {column.isTitle ? null : (
          <MenuItem className="g-item" onAction={() => commands.hide(name)}>
            {words.hide}
          </MenuItem>
        )}
      </Menu>
    </Popover>
  );
}

interface WidthDialogProps {
  readonly column: Column;
  readonly opener: RefObject<HTMLElement | null>;
  readonly commands: ColumnCommands;
  onClose(): void;
}

function WidthDialog({ column, opener, commands, onClose }: WidthDialogProps) {
  const [text, setText] = useState(String(column.width));
  const words = gridWords.columns;
  return (
    <Popover triggerRef={opener} isOpen onOpenChange={(isOpen) => !isOpen && onClose()} placement="bottom start">
      <Dialog className="g-dialog g-form">
        <Heading slot="title" className="g-dialog-title">
          {words.widthOf(column.label)}
        </Heading>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (/^\d{1,4}$/.test(text)) commands.resize(column.field.name, Number(text));
            onClose();
          }}
        >
          <TextField value={text} onChange={setText} inputMode="numeric" autoFocus className="g-field">
            <Label>{words.pixels}</Label>
            <Input className="input" dir="ltr" />
          </TextField>
          <div className="g-actions">
            <Button className="button button-small" onPress={onClose}>
              {gridWords.cancel}
            </Button>
            <Button type="submit" className="button button-small button-main">
              {gridWords.apply}
            </Button>
          </div>
        </form>
      </Dialog>
    </Popover>
  );
}
