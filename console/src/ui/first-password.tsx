import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { useFirstPassword } from '../memory/first-password.ts';
import { words } from '../words/index.ts';
import styles from './first-password.module.css';

/** Asks the user to replace the password of the installation. @param isLinked whether to link to the page where that is done */
export function FirstPassword({ isLinked = true }: { isLinked?: boolean }) {
  const { appId, model, paths } = useSystem();
  if (!useFirstPassword(appId, model.me.objectId)) return null;
  return (
    <div className={styles.notice}>
      <p>{words.me.firstPassword}</p>
      {isLinked && (
        <Link href={paths.page('me')} className="button button-small">
          {words.me.chooseOther}
        </Link>
      )}
    </div>
  );
}
