import { Popover as AriaPopover, type PopoverProps } from 'react-aria-components/Popover';

/** A popover of a control. It is rendered inside the page's `main`, like all content. */
export function Popover({ className, ...props }: Omit<PopoverProps, 'className'> & { readonly className?: string }) {
  const main = document.getElementById('main');
  return (
    <AriaPopover
      {...props}
      className={className ? `g-popover ${className}` : 'g-popover'}
      {...(main ? { UNSTABLE_portalContainer: main } : {})}
    />
  );
}
