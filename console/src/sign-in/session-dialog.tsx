import type { Me } from '../../../src/console/protocol/protocol.ts';
import { outdate } from '../api/query-client.ts';
import { setStatus } from '../api/status.ts';
import { useSystem } from '../api/system.tsx';
import { draftText } from '../memory/draft-text.ts';
import { draftsOf } from '../memory/drafts.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words/index.ts';
import styles from './sign-in.module.css';
import { SignInForm } from './sign-in-form.tsx';

/** Shown over a page whose session has ended: input is kept, and the page continues after signing in. */
export function SessionDialog() {
  const { appId, model, fieldLabelOf, labelOf } = useSystem();
  const drafts = draftsOf(appId, model.me.objectId);
  const onDone = (me: Me) => {
    if (me.objectId !== model.me.objectId) {
      location.reload();
      return;
    }
    setStatus({ isSignedOut: false });
    outdate();
  };
  const typed = () =>
    drafts
      .map(
        ({ key, draft }) => `${labelOf(key.table)}: ${draft.title}\n${draftText(draft, (name) => fieldLabelOf(key.table, name))}`,
      )
      .join('\n\n');
  return (
    <Dialog title={words.signIn.overTitle}>
      <p className={styles.over}>{words.signIn.overText}</p>
      <SignInForm appId={appId} username={model.me.username} onDone={onDone} />
      {drafts.length > 0 && (
        <div className={styles.typed}>
          <CopyButton text={typed} label={words.signIn.copyTyped} />
        </div>
      )}
    </Dialog>
  );
}
