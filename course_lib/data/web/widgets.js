// Tells require.js where the widgets' modules lie, which is beside this file; else it would ask a CDN.
(() => {
  const assets = new URL(".", document.currentScript.src).href;
  const manager = assets + "html-manager/libembed-amd"; // all four are in this one file
  require.config({
    paths: {
      anywidget: assets + "anywidget",
      "@jupyter-widgets/base": manager,
      "@jupyter-widgets/controls": manager,
      "@jupyter-widgets/html-manager": manager,
      "@jupyter-widgets/html-manager/dist/libembed-amd": manager,
    },
  });
})();
