import { I18nProvider } from 'react-aria-components/I18nProvider';
import { useSystem } from '../api/system.tsx';
import { MessagePage } from '../ui/states.tsx';
import { locale, words } from '../words/index.ts';
import { TableView } from './table-view.tsx';
import { gridWords } from './words/index.ts';
import './styles/page.css';
import './styles/grid.css';
import './styles/cells.css';
import './styles/parts.css';

/** The page of a table: its records as a grid. Reference: console.md#console-data. */
export function GridPage({ table }: { table: string }) {
  const model = useSystem().tables.get(table);
  if (!model) return <MessagePage title={words.errors.noTableTitle} text={words.errors.noTableText} />;
  if (!model.may.find) return <MessagePage title={gridWords.rows.closedTitle} text={gridWords.rows.closedText} />;
  return (
    <I18nProvider locale={locale}>
      <TableView table={model} />
    </I18nProvider>
  );
}
