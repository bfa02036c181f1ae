import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Separator } from 'react-aria-components/Menu';
import type { SavedView, ViewContent } from '../../../../src/console/protocol/protocol.ts';
import { describe } from '../../api/describe.ts';
import { useSystem } from '../../api/system.tsx';
import { announce } from '../../ui/announce.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { lineOf } from '../cells/cell-text.ts';
import { Popover } from '../parts/popover.tsx';
import { gridWords } from '../words/index.ts';
import { SaveViewDialog } from './save-view-dialog.tsx';
import type { View } from './use-view.ts';
import { useViewList, useViewWrites } from './use-views.ts';

/** Cannot be an id of a view. */
const ALL = ' all';
const REMOVE = ' remove';

/** The saved views of the table, and the control to save this one. */
export function ViewBar({ table, view }: { table: string; view: View }) {
  const { appId } = useSystem();
  const list = useViewList(appId, table);
  const writes = useViewWrites(appId, table);
  const [dialog, setDialog] = useState<'save' | 'remove' | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const words = gridWords.views;
  const { saved, state } = view;
  const views = list.data?.views ?? [];
  const mine = views.filter(({ isMine }) => isMine);
  const shared = views.filter(({ isMine }) => !isMine);

  const save = async (content: ViewContent) => {
    const made = await writes.create(content);
    setDialog(null);
    announce(words.saved(made.name));
    view.open(made.objectId);
  };
  const update = async (present: SavedView) => {
    try {
      await writes.update(present.objectId, { name: present.name, sharedWith: present.sharedWith, ...state });
      announce(words.saved(present.name));
      view.open(present.objectId, true);
      setProblem(null);
    } catch (error) {
      setProblem(describe(error).text);
    }
  };
  const remove = async (present: SavedView) => {
    try {
      await writes.remove(present.objectId);
      setDialog(null);
      announce(words.removed(present.name));
      view.open(null, true);
    } catch (error) {
      setProblem(describe(error).text);
    }
  };
  return (
    <>
      <MenuTrigger>
        <Button className="button button-small g-view-button">
          <Icon name="views" />
          <bdi className="g-view-name">{saved ? lineOf(saved.name) : words.all}</bdi>
          <Icon name="down" size={14} />
        </Button>
        <Popover placement="bottom start">
          <Menu
            aria-label={words.title}
            className="g-menu"
            selectionMode="single"
            selectedKeys={[saved?.objectId ?? ALL]}
            onAction={(key) => (key === REMOVE ? setDialog('remove') : view.open(key === ALL ? null : String(key)))}
          >
            <MenuItem id={ALL} className="g-item">
              {words.all}
            </MenuItem>
            <ViewSection title={words.mine} views={mine} />
            <ViewSection title={words.shared} views={shared} />
            {saved?.isMine ? <Separator className="g-separator" /> : null}
            {saved?.isMine ? (
              <MenuItem id={REMOVE} className="g-item g-item-danger">
                {words.remove}
              </MenuItem>
            ) : null}
          </Menu>
        </Popover>
      </MenuTrigger>
      {view.isChanged && saved ? (
        <>
          <span className="g-badge">{words.changed}</span>
          {saved.isMine ? (
            <Button className="button button-small" onPress={() => update(saved)}>
              {words.saveChanges}
            </Button>
          ) : null}
          <Button
            className="button button-quiet button-small button-icon"
            aria-label={words.undo}
            onPress={() => view.open(saved.objectId)}
          >
            <Icon name="undo" />
          </Button>
        </>
      ) : null}
      <Button className="button button-small" onPress={() => setDialog('save')}>
        {words.save}
      </Button>
      {problem && dialog === null ? (
        <span role="alert" className="problem">
          {problem}
        </span>
      ) : null}
      {dialog === 'save' ? <SaveViewDialog state={state} present={saved} onSave={save} onClose={() => setDialog(null)} /> : null}
      {dialog === 'remove' && saved ? (
        <Dialog
          title={words.removeTitle(lineOf(saved.name))}
          onClose={() => setDialog(null)}
          footer={
            <>
              <button type="button" className="button" onClick={() => setDialog(null)}>
                {gridWords.cancel}
              </button>
              <button type="button" className="button button-danger" onClick={() => remove(saved)}>
                {words.delete}
              </button>
            </>
          }
        >
          <p>{words.removeText}</p>
          {problem ? (
            <p role="alert" className="problem">
              {problem}
            </p>
          ) : null}
        </Dialog>
      ) : null}
    </>
  );
}

function ViewSection({ title, views }: { title: string; views: readonly SavedView[] }) {
  if (views.length === 0) return null;
  return (
    <>
      <Separator className="g-separator" />
      <MenuSection>
        <Header className="g-section">{title}</Header>
        {views.map(({ objectId, name }) => (
          <MenuItem key={objectId} id={objectId} textValue={name} className="g-item">
            <bdi>{lineOf(name)}</bdi>
          </MenuItem>
        ))}
      </MenuSection>
    </>
  );
}
