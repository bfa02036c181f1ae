import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Modal';
import type { TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { Icon } from '../../ui/icons.tsx';
import { FieldList } from '../filter/field-list.tsx';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import type { Sort } from './order.ts';

export interface SortPanelProps {
  readonly table: TableModel;
  readonly sorts: readonly Sort[];
  onChange(sorts: readonly Sort[]): void;
}

/** Chooses the fields that the rows are ordered by. */
export function SortPanel({ table, sorts, onChange }: SortPanelProps) {
  const { fieldLabelOf } = useSystem();
  const words = gridWords.sort;
  const others = table.fields.filter(
    ({ name, type }) =>
      !sorts.some(({ field }) => field === name) && !['ACL', 'Relation', 'Object', 'File', 'PrivateFile'].includes(type),
  );
  return (
    <DialogTrigger>
      <Button className={`button button-small${sorts.length > 0 ? ' g-on' : ''}`}>
        <Icon name="sort" />
        <span className="g-tool-text">{sorts.length > 0 ? words.count(sorts.length) : words.title}</span>
      </Button>
      <Popover placement="bottom end">
        <Dialog aria-label={words.title} className="g-dialog g-sorts">
          {sorts.length === 0 ? <p className="hint">{words.none}</p> : null}
          <ul className="g-sort-list">
            {sorts.map((sort, at) => {
              const label = fieldLabelOf(table.name, sort.field);
              return (
                <li key={sort.field}>
                  <bdi>{label}</bdi>
                  <Button
                    className="button button-small"
                    onPress={() =>
                      onChange(sorts.map((one, index) => (index === at ? { ...one, isDescending: !one.isDescending } : one)))
                    }
                  >
                    {sort.isDescending ? words.descending : words.ascending}
                  </Button>
                  <Button
                    className="button button-quiet button-icon button-small"
                    aria-label={words.remove(label)}
                    onPress={() => onChange(sorts.filter((one) => one !== sort))}
                  >
                    <span aria-hidden="true">×</span>
                  </Button>
                </li>
              );
            })}
          </ul>
          <DialogTrigger>
            <Button className="button button-small">{words.add}</Button>
            <Popover placement="bottom start">
              <Dialog aria-label={words.add} className="g-dialog">
                {({ close }) => (
                  <FieldList
                    table={table.name}
                    fields={others}
                    onChoice={(field) => {
                      onChange([...sorts, { field, isDescending: false }]);
                      close();
                    }}
                  />
                )}
              </Dialog>
            </Popover>
          </DialogTrigger>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
