// SPDX-License-Identifier: Apache-2.0
// The parts of ECharts that the report uses; nothing else is bundled.
import * as echarts from 'echarts/core';
import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { GraphicComponent, GridComponent, LegendComponent, TooltipComponent }
  from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';

echarts.use([BarChart, CustomChart, LineChart, ScatterChart, GraphicComponent, GridComponent,
  LegendComponent, TooltipComponent, SVGRenderer]);

export default echarts;
